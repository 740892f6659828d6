import java.security.MessageDigest;
import java.time.ZoneId;
import java.time.ZonedDateTime;

public class Main {
    public static void main(String[] words) throws Exception {
        System.out.println(MessageDigest.getInstance("SHA-256").digest(new byte[0]).length);
        System.out.println(ZonedDateTime.of(2024, 1, 1, 0, 0, 0, 0, ZoneId.of("Europe/Berlin")).getOffset());
        System.out.println(javax.net.ssl.SSLContext.getDefault().getProtocol());
        System.out.println(java.util.Locale.forLanguageTag("de").getDisplayLanguage());
    }
}
